"""Documents for readers: blocks, and their forms as a page, as Markdown, as LaTeX and as CSV."""
