#!/bin/sh
echo "upgrading to $1"
