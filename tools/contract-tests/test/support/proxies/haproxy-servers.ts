/** What HAProxy knows of a server. */
export interface HaproxyServer {
  /** The last check had the expected answer. */
  isUp: boolean;
  /** It gets no requests. Until its first checks, it does. */
  isDown: boolean;
  /** Connections that the server refused or did not accept in time. */
  failedConnections: number;
  /** Requests without a complete response. */
  failedResponses: number;
}

export function statsFrontend(port: number): string[] {
  return [
    'frontend stats',
    '  mode http',
    '  timeout client 10s',
    `  bind 127.0.0.1:${port}`,
    '  stats enable',
    '  stats uri /',
  ];
}

/** Reads the statistics in CSV, whose first line has the names of the columns. Servers by `<backend>/<server>`. */
export async function readServers(statsPort: number): Promise<ReadonlyMap<string, HaproxyServer>> {
  const response = await fetch(`http://127.0.0.1:${statsPort}/;csv`);
  const csv = await response.text();
  const [header = '', ...rows] = csv.trim().split('\n');
  const names = header.replace(/^# /, '').split(',');
  const found = new Map<string, HaproxyServer>();
  for (const row of rows) {
    const values = new Map(row.split(',').map((value, index) => [names[index] ?? '', value]));
    const server = values.get('svname') ?? '';
    if (server === 'FRONTEND' || server === 'BACKEND') continue;
    found.set(`${values.get('pxname')}/${server}`, {
      isUp: values.get('status') === 'UP',
      isDown: values.get('status')?.startsWith('DOWN') === true,
      failedConnections: Number(values.get('econ')),
      failedResponses: Number(values.get('eresp')),
    });
  }
  if (found.size === 0) throw new Error(`HAProxy has no servers:\n${csv}`);
  return found;
}
