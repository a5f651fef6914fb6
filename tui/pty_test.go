package tui

func child(string) {}
