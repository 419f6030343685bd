"""Work that joins rooms: the reports of `data`, and the demo."""
