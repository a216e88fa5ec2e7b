"""What a person sees: options, tables and progress (`commandline`), charts (`chart`), what a cache does step by step
(`strips`; `svg` is what drawings share); and how a command ends.

`guard` turns whatever happens into a status and whole lines, `writer` writes all files or none.  May import nothing of
ours.  Start with `guard`.  `processors` says how many processes to use.
"""
