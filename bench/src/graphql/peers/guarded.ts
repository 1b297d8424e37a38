import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fastify, type FastifyRequest, LogController } from 'fastify';
import { mercurius } from 'mercurius';
import type { Pool } from 'pg';
import { Histogram } from 'prom-client';
import { createPeerContext, resolvers, typeDefs } from './resolvers.ts';

/** A row of the API key of a request, with its client. */
interface KeyRow {
  key_hash: Buffer;
  revoked_at: Date | null;
  expires_at: Date | null;
  client_id: string;
  account_id: string;
  organization_id: string;
  cost_maximum: number;
  cost_restore_rate: number;
}

/** As long as ours. */
const keyCacheMs = 900;
const requestTimeoutMs = 10_000;

const selectKey = `
  select k.key_hash, k.revoked_at, k.expires_at, c.client_id, c.account_id, a.organization_id, c.cost_maximum,
    c.cost_restore_rate
  from api_key k
  join api_client c on c.id = k.api_client_id
  join account a on a.id = c.account_id
  where k.key_id = $1`;

const header = ({ headers }: FastifyRequest, name: string): string => String(headers[name] ?? '');
const invalid = (): Error => Object.assign(new Error('The API key is missing or invalid.'), { statusCode: 401 });

/**
 * Mercurius with its JIT behind what our apps do for each request and it leaves to its user: credentials, whose rows are cached as
 * long as ours; a bucket of points; limits of the depth, the body and the time; a line of the log in a file; a histogram of the
 * durations; and the headers of our responses. Each part is the simplest that does this in one process.
 */
export async function startGuardedMercurius(pool: Pool): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'deedwire-bench-log-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const app = fastify({
    logger: { file: join(folder, 'app.log') },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: 100_000,
    handlerTimeout: requestTimeoutMs,
  });
  const durations = new Histogram({
    name: 'graphql_request_duration_seconds',
    help: 'Time of requests, by status.',
    labelNames: ['status'],
  });
  const keys = new Map<string, { row: KeyRow; readMs: number }>();
  const buckets = new Map<string, { points: number; atMs: number }>();
  const callers = new WeakMap<FastifyRequest, KeyRow & { keyId: string }>();

  async function findKey(keyId: string): Promise<KeyRow | undefined> {
    const cached = keys.get(keyId);
    const nowMs = performance.now();
    if (cached && nowMs - cached.readMs < keyCacheMs) return cached.row;
    const { rows } = await pool.query<KeyRow>({ name: 'api-key', text: selectKey, values: [keyId] });
    const [row] = rows;
    if (row) keys.set(keyId, { row, readMs: nowMs });
    return row;
  }

  /** Takes a point. Returns what is left. */
  function take({ client_id, cost_maximum, cost_restore_rate }: KeyRow): number {
    const nowMs = performance.now();
    const bucket = buckets.get(client_id) ?? { points: cost_maximum, atMs: nowMs };
    const restored = ((nowMs - bucket.atMs) / 1000) * cost_restore_rate;
    bucket.points = Math.min(cost_maximum, bucket.points + restored) - 1;
    bucket.atMs = nowMs;
    buckets.set(client_id, bucket);
    return Math.floor(bucket.points);
  }

  app.addHook('onRequest', async (request, reply) => {
    const apiKey = header(request, 'x-service-api-key');
    const keyId = apiKey.split('_')[2] ?? '';
    const row = await findKey(keyId);
    const isKey = row !== undefined && timingSafeEqual(hash('sha256', apiKey, 'buffer'), row.key_hash);
    const organizationId = header(request, 'x-service-organization-id').split('/').at(-1);
    if (!isKey || row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= new Date())) throw invalid();
    if (row.client_id !== header(request, 'x-service-client-id') || row.organization_id !== organizationId)
      throw invalid();
    const left = take(row);
    reply.headers({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': request.id,
      'ratelimit-policy': `"points";q=${row.cost_maximum};w=${Math.ceil(row.cost_maximum / row.cost_restore_rate)}`,
      ratelimit: `"points";r=${left}`,
    });
    if (left < 0) throw Object.assign(new Error('There are no points left.'), { statusCode: 429 });
    callers.set(request, { ...row, keyId });
  });
  app.addHook('onResponse', async (request, reply) => {
    const { statusCode: status, elapsedTime: durationMs } = reply;
    const caller = callers.get(request);
    durations.observe({ status }, durationMs / 1000);
    request.log.info({ clientId: caller?.client_id, keyId: caller?.keyId, address: request.ip, status, durationMs });
  });
  await app.register(mercurius, {
    schema: typeDefs,
    resolvers,
    jit: 1,
    queryDepth: 10,
    context: (request) => createPeerContext(pool, callers.get(request)?.account_id ?? ''),
  });
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/graphql`;
}
