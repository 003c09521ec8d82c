"""Nodes: each is one step of a method, named as in the papers; graphs share them. Some modules hold helpers."""
