"""What a person sees: options, faults, tables and progress (`commandline`), and charts (`chart`).

May import nothing of ours.  Start with `commandline`.
"""
