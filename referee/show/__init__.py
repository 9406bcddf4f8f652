"""What people look at, and what they read to take part."""
