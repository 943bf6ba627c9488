"""One module per family of pages. Every view asks access.py what exists for the person who asks."""
