import { checkLeaseMs } from './pull-lease.ts';
import { rememberedMs, type WebhookStore } from './store.ts';

export interface RedisStoreOptions {
  /**
   * Sends one command and returns its reply as Redis sends it: texts as strings, integers as numbers, nil as null. With `redis`:
   * `(command) => client.sendCommand(command)`. With `ioredis`: `([name, ...parameters]) => client.call(name, ...parameters)`. A client
   * that parses replies as JSON, such as `@upstash/redis`, needs `automaticDeserialization: false`.
   */
  send: (command: [name: string, ...parameters: string[]]) => Promise<unknown>;
  /** Precedes all keys. Defaults to `webhook`. */
  prefix?: string;
  /** The lease of a process that stopped without releasing it ends after this time, in milliseconds, from 1,000 to 86,400,000. Defaults to 30,000. */
  leaseMs?: number;
}

// The keys of a delivery are those of its ids. A client sends a command again whose reply was lost: the lease is then its own.
// With a third argument, a delivery that was processed is leased too, and the reply is that argument.
const leaseScript = `
local again = false
for _, key in ipairs(KEYS) do
  local existing = redis.call('get', key)
  if existing == 'done' and ARGV[3] then again = ARGV[3]
  elseif existing and existing ~= ARGV[1] then return existing end
end
for _, key in ipairs(KEYS) do redis.call('set', key, ARGV[1], 'PX', ARGV[2]) end
return again`;
// The next two change keys only while they hold the random value of this request.
const renewScript = `
for _, key in ipairs(KEYS) do
  if redis.call('get', key) ~= ARGV[1] then return 0 end
end
for _, key in ipairs(KEYS) do redis.call('pexpire', key, ARGV[2]) end
return 1`;
const releaseScript = `
for _, key in ipairs(KEYS) do
  if redis.call('get', key) == ARGV[1] then redis.call('del', key) end
end
return 1`;
// A lease that was lost meanwhile does not matter: the work is done.
const completeScript = `
for i = 2, #KEYS do
  redis.call('set', KEYS[i], 'done', 'PX', ARGV[1])
  redis.call('zadd', KEYS[1], ARGV[2], ARGV[i + 1])
end
redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[2] - ARGV[1])
return 1`;
// A lease stays: its delivery is still being processed.
const forgetScript = `
local forgotten = 0
for i = 2, #KEYS do
  if redis.call('get', KEYS[i]) == 'done' then forgotten = forgotten + redis.call('del', KEYS[i]) end
end
redis.call('zrem', KEYS[1], unpack(ARGV))
return forgotten`;

// Of a subscription: the holder of its lease, and its position.
const takeScript = `
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return false end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('get', KEYS[2]) or ''`;
const keepScript = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('pexpire', KEYS[1], ARGV[2])
if ARGV[3] then redis.call('set', KEYS[2], ARGV[3]) end
return 1`;

const forgetBatch = 500;

type Reply = 'integer' | 'nil' | 'text';

/** @throws {TypeError} if the client has changed the reply: for example, positions that it parsed would be lost. */
function checked(reply: unknown, ...expected: readonly Reply[]): number | string | null {
  if (typeof reply === 'string' && expected.includes('text')) return reply;
  if (typeof reply === 'number' && expected.includes('integer')) return reply;
  if (reply === null && expected.includes('nil')) return reply;
  throw changedReply(reply, expected.join(' or '));
}

function changedReply(reply: unknown, expected: string): TypeError {
  const found = Object.prototype.toString.call(reply).slice('[object '.length, -1);
  return new TypeError(
    `The Redis client replied with ${found}, not with ${expected}. Let it return replies as Redis sends them: texts as strings, without parsing JSON (automaticDeserialization: false of @upstash/redis), and integers as numbers.`,
  );
}

/**
 * Remembers deliveries in Redis 7 or later. A lease, renewed while the handler runs, keeps other processes from processing the
 * same delivery. If a process stops in the middle, or Redis loses its memory, the handler runs again: effects happen at least
 * once.
 */
export function redisStore({ send, prefix = 'webhook', leaseMs = 30_000 }: RedisStoreOptions): WebhookStore {
  checkLeaseMs(leaseMs);
  // The braces put all keys into one slot of a cluster.
  const keyOf = (id: string): string => `{${prefix}}:${id}`;
  const indexKey = `{${prefix}}`;
  const pullKeys = (subscriptionId: string): string[] =>
    [`pulling ${subscriptionId}`, `pulled ${subscriptionId}`].map(keyOf);
  const run = (script: string, keys: string[], ...parameters: string[]): Promise<unknown> =>
    send(['EVAL', script, String(keys.length), ...keys, ...parameters]);

  return {
    async once(id, work, _signal, alias, again = false) {
      const ids = alias === undefined ? [id] : [id, alias];
      const keys = ids.map(keyOf);
      const lease = crypto.randomUUID();
      const complete = (): Promise<unknown> =>
        run(completeScript, [indexKey, ...keys], String(rememberedMs), String(Date.now()), ...ids);
      const reply = await run(leaseScript, keys, lease, String(leaseMs), ...(again ? ['again'] : []));
      const existing = checked(reply, 'text', 'nil');
      if (existing !== null && existing !== 'again') return existing === 'done' ? 'duplicate' : 'busy';
      const lost = new AbortController();
      const lose = (): void => lost.abort(new Error(`The lease of the delivery ${id} could not be renewed.`));
      let renewedMs = performance.now();
      const renew = async (): Promise<void> => {
        const nowMs = performance.now();
        if (nowMs - renewedMs >= leaseMs) lose();
        const isHeld = checked(await run(renewScript, keys, lease, String(leaseMs)), 'integer');
        if (isHeld === 0) lose();
        else renewedMs = nowMs;
      };
      const renewal = setInterval(() => {
        // Until the lease ends, the next renewal can succeed.
        renew().catch(() => {});
      }, leaseMs / 3);
      try {
        await work(undefined, lost.signal);
      } catch (error) {
        // If this fails too, the lease expires.
        await (existing === null ? run(releaseScript, keys, lease) : complete()).catch(() => {});
        throw error;
      } finally {
        clearInterval(renewal);
      }
      await complete();
      return 'processed';
    },

    async forget(which) {
      const ids = 'ids' in which ? which.ids : await idsSince(which.since);
      let forgotten = 0;
      for (let start = 0; start < ids.length; start += forgetBatch) {
        const batch = ids.slice(start, start + forgetBatch);
        forgotten += Number(checked(await run(forgetScript, [indexKey, ...batch.map(keyOf)], ...batch), 'integer'));
      }
      return forgotten;
    },

    positions: {
      rememberedMs,
      async take(subscriptionId, holder, pullLeaseMs) {
        const reply = await run(takeScript, pullKeys(subscriptionId), holder, String(pullLeaseMs));
        const position = checked(reply, 'text', 'nil');
        return position === null ? null : { position: position === '' ? null : String(position) };
      },
      async keep(subscriptionId, holder, pullLeaseMs, position) {
        const values = [holder, String(pullLeaseMs), ...(position === null ? [] : [position])];
        return checked(await run(keepScript, pullKeys(subscriptionId), ...values), 'integer') === 1;
      },
      async release(subscriptionId, holder) {
        await run(releaseScript, pullKeys(subscriptionId).slice(0, 1), holder);
      },
    },
  };

  async function idsSince(since: Date): Promise<string[]> {
    const found = await send(['ZRANGEBYSCORE', indexKey, String(since.getTime()), '+inf']);
    if (!Array.isArray(found)) throw changedReply(found, 'array');
    return found.map((id) => String(checked(id, 'text')));
  }
}
