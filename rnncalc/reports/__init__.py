"""Reports on results: tables and sentences for people, data for programs."""
