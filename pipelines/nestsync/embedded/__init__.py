"""Real catalog servers on this machine: started, filled with sample content, counted, stopped.

`nestsync demo` and the tests start the same servers with the same code. They listen on 127.0.0.1 only, keep
their state in a folder, and end with the process that started them, however that one ends.
"""
