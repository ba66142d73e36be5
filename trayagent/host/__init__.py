"""What this machine tells: processes, the tty pulse, git projects, clocks. One small interface
each (base.py), one file a way of asking."""
