"""The faults of a cluster, by name. Each one ends with all processes running and all links open."""

import asyncio
import os
import random
import shutil
import signal


def some_member(cluster):
    return random.randrange(cluster.options.members)


async def kill(cluster):
    """A member is killed, and started again later."""
    index = some_member(cluster)
    cluster.note(f"kill member{index}")
    await cluster.end(f"member{index}")
    await asyncio.sleep(random.uniform(0.2, 1.5))
    await cluster.start_member(index)


async def pause(cluster):
    """A member is stopped and continued."""
    name = f"member{some_member(cluster)}"
    await pause_process(cluster, name, random.uniform(0.5, 5))


async def pause_process(cluster, name, time):
    cluster.note(f"pause {name} for {time:.1f} s")
    process = cluster.processes[name]
    process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(time)
    process.send_signal(signal.SIGCONT)


async def stutter(cluster):
    """A member is stopped most of the time, so that it cannot keep up."""
    name = f"member{some_member(cluster)}"
    cluster.note(f"stutter {name}")
    process = cluster.processes[name]
    for _ in range(random.randrange(10, 40)):
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(0.18)
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(0.02)


async def rolling(cluster):
    """All members are stopped by SIGTERM and started again, one after the other."""
    for index in range(cluster.options.members):
        cluster.note(f"term member{index}")
        await cluster.end(f"member{index}", signal.SIGTERM)
        await cluster.join(index)


async def upgrade(cluster):
    """The members are replaced by those of another version, one after the other, and back again."""
    for program in (cluster.options.other_gateway, cluster.options.gateway):
        for index in range(cluster.options.members):
            cluster.note(f"upgrade member{index} to {program}")
            await cluster.end(f"member{index}", signal.SIGTERM)
            cluster.programs[index] = program
            await cluster.join(index)
        await asyncio.sleep(random.uniform(1, 4))


async def join(cluster):
    """One more member joins, serves for a while, and leaves by SIGTERM or is killed."""
    index = cluster.options.members
    cluster.note(f"join member{index}")
    await cluster.join(index)
    cluster.ports.append(cluster.member_ports[index])
    await asyncio.sleep(random.uniform(0.5, 4))
    cluster.ports.pop()
    how = random.choice([signal.SIGKILL, signal.SIGTERM])
    cluster.note(f"{how.name} member{index}")
    await cluster.end(f"member{index}", how)


async def clock(cluster):
    """The wall clock of a member is moved, and moved back after a while."""
    index, seconds = some_member(cluster), random.choice([-86400, -3600, -30, 30, 3600, 86400])
    time = random.uniform(0.3, 8)
    cluster.note(f"clock of member{index} {seconds:+} s for {time:.1f} s")
    cluster.step_clock(index, seconds)
    await asyncio.sleep(time)
    cluster.step_clock(index, 0)


# Links


async def refuse(relays, time):
    for relay in relays:
        await relay.refuse()
    await asyncio.sleep(time)
    for relay in relays:
        await relay.start()


async def hold(relays, time):
    for relay in relays:
        relay.hold()
    await asyncio.sleep(time)
    for relay in relays:
        relay.release()


async def engine_cut(cluster):
    """The connections of a member to the engine are cut, and new ones refused for a while."""
    index, time = some_member(cluster), random.choice([0, random.uniform(0.3, 6)])
    cluster.note(f"engine-cut member{index} for {time:.1f} s")
    await refuse(cluster.engine_relays[index], time)


async def engine_swallow(cluster):
    """Nothing of the connections of a member to the engine arrives for a while; then all of it does."""
    index, time = some_member(cluster), random.uniform(0.3, 9)
    cluster.note(f"engine-swallow member{index} for {time:.1f} s")
    await hold(cluster.engine_relays[index], time)


async def engine_slow(cluster):
    """The messages of the engine reach a member slower than they are sent."""
    index, time, rate = some_member(cluster), random.uniform(2, 8), random.choice([2_000, 10_000])
    cluster.note(f"engine-slow member{index} for {time:.1f} s")
    for relay in cluster.engine_relays[index]:
        relay.rate = rate
    await asyncio.sleep(time)
    for relay in cluster.engine_relays[index]:
        relay.rate = None


async def upstream_cut(cluster):
    """The connections of a member to the upstream are cut, and new ones refused for a while."""
    index, time = some_member(cluster), random.choice([0, random.uniform(0.3, 6)])
    cluster.note(f"upstream-cut member{index} for {time:.1f} s")
    await refuse([cluster.upstream_relays[index]], time)


async def upstream_swallow(cluster):
    """Nothing of the connections of a member to the upstream arrives for a while; then all of it does."""
    index, time = some_member(cluster), random.uniform(0.3, 12)
    cluster.note(f"upstream-swallow member{index} for {time:.1f} s")
    await hold([cluster.upstream_relays[index]], time)


# Engine


def some_engine(cluster):
    return random.randrange(len(cluster.engines))


async def restart_engine(cluster, index, how, time):
    cluster.note(f"{how.name} engine{index}, start after {time:.1f} s")
    await cluster.end(cluster.engines[index], how)
    await asyncio.sleep(time)
    await cluster.start_engine(index)


async def engine(cluster):
    """A server of the engine is killed and started again."""
    await restart_engine(cluster, some_engine(cluster), signal.SIGKILL, random.uniform(0.1, 2))


async def engine_term(cluster):
    """A server of the engine is stopped by SIGTERM and started again."""
    await restart_engine(cluster, some_engine(cluster), signal.SIGTERM, random.uniform(0, 1))


async def engine_away(cluster):
    """The whole engine is away for long."""
    time = random.uniform(5, 12)
    cluster.note(f"engine-away for {time:.1f} s")
    for name in cluster.engines:
        await cluster.end(name)
    await asyncio.sleep(time)
    for index in range(len(cluster.engines)):
        await cluster.start_engine(index)


async def engine_pause(cluster):
    """A server of the engine is stopped and continued."""
    await pause_process(cluster, cluster.engines[some_engine(cluster)], random.uniform(0.5, 9))


async def leader(cluster):
    """The server that leads the log is killed and started again; with one server, the same as `engine`."""
    index = await asyncio.to_thread(cluster.leader)
    restart = restart_engine(cluster, index or 0, signal.SIGKILL, random.uniform(0.1, 12))
    await asyncio.gather(restart, cluster.await_leader(index))


async def divide(cluster):
    """One of the engine's servers is cut off from the others."""
    index, time = some_engine(cluster), random.uniform(3, 14)
    leader = await asyncio.to_thread(cluster.leader)
    cluster.note(f"divide engine{index} from the others for {time:.1f} s, leader {leader}")
    relays = [relay for pair, relay in cluster.route_relays.items() if index in pair]
    await random.choice([refuse, hold])(relays, time)


async def power(cluster):
    """The power of a server of the engine fails: its disk has only what was written to it."""
    index = some_engine(cluster)
    may_lose = cluster.options.sync != "always"
    cluster.note(f"power engine{index}")
    cluster.losses += may_lose
    await cluster.fail_power(index)
    await asyncio.sleep(random.uniform(0, 1))
    await cluster.start_engine(index)
    await asyncio.sleep(1)
    cluster.losses += may_lose


async def engine_empty(cluster):
    """The engine loses its data."""
    cluster.note("engine-empty")
    await replace_log(cluster, None)


async def engine_back(cluster):
    """The engine is restored from an older copy."""
    copy = os.path.join(cluster.folder, "copy")
    cluster.note("engine-back: copy")
    await cluster.end(cluster.engines[0], random.choice([signal.SIGKILL, signal.SIGTERM]))
    shutil.copytree(cluster.store(), copy)
    await cluster.start_engine()
    await asyncio.sleep(random.uniform(0.5, 5))
    cluster.note("engine-back: restore")
    await replace_log(cluster, copy)
    shutil.rmtree(copy)


async def replace_log(cluster, copy):
    cluster.losses += 1
    await cluster.end(cluster.engines[0])
    await asyncio.sleep(random.uniform(0, 1))
    # The folder may be a mount point.
    for name in os.listdir(cluster.store()):
        shutil.rmtree(os.path.join(cluster.store(), name))
    if copy is not None:
        shutil.copytree(copy, cluster.store(), dirs_exist_ok=True)
    await cluster.start_engine()
    await asyncio.sleep(1)
    cluster.losses += 1


async def engine_full(cluster):
    """The disk of the engine is full for a while."""
    ballast = os.path.join(cluster.store(), "ballast")
    cluster.note("engine-full")
    try:
        with open(ballast, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        pass
    await asyncio.sleep(random.uniform(1, 4))
    os.unlink(ballast)
    await asyncio.sleep(0.5)
    if not await asyncio.to_thread(cluster.has_log):
        # NATS stops using its log when it cannot write, and does not react to SIGTERM then.
        await restart_engine(cluster, 0, signal.SIGKILL, 0)


FAULTS = {
    function.__name__.replace("_", "-"): function
    for function in (
        kill, pause, stutter, rolling, upgrade, join, clock, engine_cut, engine_swallow, engine_slow, upstream_cut,
        upstream_swallow, engine, engine_term, engine_away, engine_pause, leader, divide, power, engine_empty, engine_back,
        engine_full,
    )
}
RELAYED = {"engine-cut", "engine-swallow", "engine-slow", "upstream-cut", "upstream-swallow"}
# Those that need a file system of their own.
MOUNTED = {"power", "engine-full"}
# Those that are made for an engine of one server.
SINGLE = {"engine-empty", "engine-back", "engine-full"}
# Those that need several.
SEVERAL = {"divide"}
