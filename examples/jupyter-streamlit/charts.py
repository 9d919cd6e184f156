"""A page made with Streamlit that greets its user by name.

    streamlit run charts.py --server.address 127.0.0.1 --server.port 3001 --server.headless true
"""

from urllib.parse import unquote

import streamlit as st

# From the request that opened the WebSocket. The gateway removes the client's own header.
name = unquote(st.context.headers.get("X-Forwarded-Name", "")) or st.context.headers.get("X-Forwarded-Email", "")
st.title("Harvest")
st.write(f"Hello, {name}")
beds = st.number_input("Beds", 1, 10, 3)
st.write(f"{beds * 12} kilograms of potatoes")
