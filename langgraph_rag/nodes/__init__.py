"""Nodes: one step of a method each, named as the papers name it, shared by the graphs; and what some work with."""
