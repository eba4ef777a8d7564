"""The PlusCal algorithms of ``specs/pluscal``: what each model must come to, and how both engines are held to it."""
