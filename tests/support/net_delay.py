"""Carries packets between ports of a bridge, late: those that the bridge itself was told to drop.

    net_delay.py SECONDS FROM_PORT:FROM_ADDRESS:TO_PORT:TO_ADDRESS…

Says "ready" once it carries. Sees packets as they arrive at their port, before the bridge does.
"""

import heapq
import itertools
import select
import socket
import sys
import time

_EVERY_KIND = 3  # of Ethernet; only such a listener comes before the bridge
_IPV4 = b"\x08\x00"


def main(seconds, *ways):
    ports, routes, waiting, order = {}, {}, [], itertools.count()
    for way in ways:
        from_port, source, to_port, target = way.split(":")
        for name in (from_port, to_port):
            if name not in ports:
                ports[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                ports[name].bind((name, _EVERY_KIND))
                ports[name].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        routes[from_port, socket.inet_aton(source) + socket.inet_aton(target)] = ports[to_port]
    names = {port: name for name, port in ports.items()}
    print("ready", flush=True)
    while True:
        pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for port in select.select(list(names), [], [], pause)[0]:
            packet, (_, _, kind, _, _) = port.recvfrom(1 << 16)
            to = routes.get((names[port], packet[26:34]))
            if to is not None and kind != socket.PACKET_OUTGOING and packet[12:14] == _IPV4:
                heapq.heappush(waiting, (time.monotonic() + seconds, next(order), packet, to))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, packet, to = heapq.heappop(waiting)
            to.send(packet)


if __name__ == "__main__":
    main(float(sys.argv[1]), *sys.argv[2:])
