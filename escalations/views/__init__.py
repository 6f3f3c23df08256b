"""The console's pages: each view translates, makes one call, and translates back."""
