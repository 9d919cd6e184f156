"""A Gradio page that greets its user, with a calculation and a gauge that runs until the page is closed.

    python3 harvest.py 3000
"""

import itertools
import os
import sys
import time
from urllib.parse import unquote

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402


def name(request: gr.Request) -> str:
    """The user's name. The gateway sets these headers in every request and removes the client's own."""
    return unquote(request.headers.get("X-Forwarded-Name", "")) or request.headers.get("X-Forwarded-Email", "")


def greet(request: gr.Request):
    return f"Hello, {name(request)}"


def harvest(beds: float, request: gr.Request):
    return f"{int(beds) * 12} kilograms of potatoes for {name(request)}"


def gauge(request: gr.Request):
    for litres in itertools.count(1):
        yield f"{litres} litres in the butt of {name(request)}"
        time.sleep(0.5)


with gr.Blocks(title="Harvest") as page:
    greeting = gr.Markdown()
    beds = gr.Number(3, label="Beds")
    result = gr.Textbox(label="Harvest", elem_id="harvest")
    gr.Button("Calculate", elem_id="calculate").click(harvest, beds, result)
    water = gr.Textbox(label="Rain", elem_id="rain")
    gr.Button("Watch", elem_id="watch").click(gauge, None, water)
    page.load(greet, None, greeting)

if __name__ == "__main__":
    page.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), share=False)
