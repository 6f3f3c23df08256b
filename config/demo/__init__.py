"""A dental practice to try Rapport with: everything here is invented."""
