"""What a person sees: options, tables and progress (`commandline`), and charts (`chart`); and how a command ends.

`guard` turns whatever happens into a status and whole lines, `writer` writes all files or none.  May import nothing of
ours.  Start with `guard`.
"""
