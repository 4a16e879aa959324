#!/bin/sh
echo "repairing"
