"""One kit for all that is written to be read: blocks, and their forms as a page, as Markdown, as LaTeX and as CSV."""
