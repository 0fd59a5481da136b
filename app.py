"""Headlight's door: the navigation at once, then the libraries, then the visit."""

import streamlit as st

from lib.ui.guard import declared

page = declared()

with st.spinner("Starting: loading the libraries. About ten seconds, once per server.", show_time=True):
    from lib.ui.entrance import visit  # torch and transformers come with it

visit(page)
