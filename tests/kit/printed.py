"""Tables as a terminal shows them."""


def rows(printed: str) -> list[list[str]]:
    """Cells of the rows below the headings."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if line.startswith("│")]
