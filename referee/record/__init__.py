"""The match log on disk, and the log played again.  [match log]"""
