"""What a person sees: options, faults, tables and progress (`commandline`), charts (`chart`), and what a
cache does step by step (`strips`); `svg` is what drawings share.

May import nothing of ours.  Start with `commandline`.
"""
