#!/bin/sh
echo "rolling back"
