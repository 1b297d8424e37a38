/** Server settings, given at every start so that an older data directory gets them too. */
export function serverSettings(port: number, durable: boolean): string[] {
  const settings: Record<string, string | number> = {
    port,
    listen_addresses: '127.0.0.1',
    // Socket paths have a length limit that deep checkouts exceed.
    unix_socket_directories: '',
    max_connections: 300,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Passwords of ours are random, so stretching them adds nothing but time to every connection.
    scram_iterations: 1,
    max_wal_senders: 0,
    wal_level: 'minimal',
  };
  // A killed server loses nothing by these two, only a machine that loses power does. synchronous_commit stays on:
  // without it an immediate stop would lose acknowledged commits, and tests count those.
  if (!durable) Object.assign(settings, { fsync: 'off', full_page_writes: 'off' });
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
