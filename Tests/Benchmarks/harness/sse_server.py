"""A hub of Server-Sent Events on a library of PyPI, as its documentation shows it: `sse_server.py LIBRARY`, `aiohttp-sse` or
`sse-starlette`. `GET /items/stream?item=I` is a stream, `POST /items/publish?item=I` an event. The libraries keep no history.
"""

import asyncio
import collections
import socket
import sys

numbers = collections.Counter()
queues = collections.defaultdict(set)


def publish(item, data):
    """Queues an event for each stream of an item."""
    numbers[item] += 1
    for queue in queues[item]:
        queue.put_nowait({"id": str(numbers[item]), "data": data})


async def events(item):
    """The events of an item from now on."""
    queue = asyncio.Queue()
    queues[item].add(queue)
    try:
        while True:
            yield await queue.get()
    finally:
        queues[item].discard(queue)


async def serve_aiohttp(listener):
    """aiohttp with aiohttp-sse."""
    from aiohttp import web
    from aiohttp_sse import sse_response

    async def stream(request):
        async with sse_response(request, sep="\n") as response:
            async for event in events(request.query["item"]):
                await response.send(**event)
        return response

    async def published(request):
        publish(request.query["item"], await request.text())
        return web.Response(status=204)

    application = web.Application()
    application.add_routes([web.get("/items/stream", stream), web.post("/items/publish", published)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    await asyncio.Event().wait()


async def serve_starlette(listener):
    """uvicorn, Starlette and sse-starlette."""
    import uvicorn
    from sse_starlette.sse import EventSourceResponse
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def stream(request):
        return EventSourceResponse(events(request.query_params["item"]), sep="\n")

    async def published(request):
        publish(request.query_params["item"], (await request.body()).decode())
        return Response(status_code=204)

    routes = [Route("/items/stream", stream), Route("/items/publish", published, methods=["POST"])]
    settings = uvicorn.Config(Starlette(routes=routes), log_level="error", access_log=False)
    await uvicorn.Server(settings).serve(sockets=[listener])


async def main():
    """Prints the port once connections are accepted."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print("port", listener.getsockname()[1], flush=True)
    await {"aiohttp-sse": serve_aiohttp, "sse-starlette": serve_starlette}[sys.argv[1]](listener)


if __name__ == "__main__":
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    run(main())
