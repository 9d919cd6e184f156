#!/usr/bin/env bash
# start.sh: JupyterLab and Streamlit, in this folder.
#   pip install -r requirements.txt
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p notebooks
# Keep their settings and caches here, too.
export HOME=$PWD

trap 'kill $(jobs -p)' EXIT
streamlit run charts.py --server.address 127.0.0.1 --server.port 3001 --server.headless true \
  --browser.gatherUsageStats false &
# As root it refuses to start without --allow-root.
options=()
if [[ $(id -u) == 0 ]]; then options+=(--allow-root); fi
jupyter-lab --config jupyter_config.py "${options[@]}"
