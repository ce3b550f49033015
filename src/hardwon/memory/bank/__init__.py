"""The reasoning bank: lessons that outlive their task (Ouyang et al. 2025), with what they rest on and what they did.

Runs recall from it and admit to it; strategies see advice as text only, and have no way to the bank.
"""
