# Every line must be "key = value"; names the first that is not.
bad=$(grep -nvE '^[a-z_]+ = .+$' "$1") && { echo "$1: $bad" >&2; exit 1; }
echo "$1 is well formed"
