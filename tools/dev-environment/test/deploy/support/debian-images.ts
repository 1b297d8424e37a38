import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, type Containers } from './containers.ts';

/**
 * PostgreSQL 15 of Debian with the parts of the interface of the image `postgres` that compose.yaml uses: the user, the script
 * docker-entrypoint.sh, POSTGRES_DB, POSTGRES_PASSWORD_FILE, and a volume at /var/lib/postgresql.
 */
const postgresEntrypoint = `#!/bin/sh
set -eu
export PGDATA=/var/lib/postgresql/data
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  setpriv --reuid=postgres --regid=postgres --clear-groups initdb --username=postgres \\
    --pwfile="$POSTGRES_PASSWORD_FILE" --auth=scram-sha-256 --encoding=UTF8 --locale=C
  echo "create database $POSTGRES_DB" |
    setpriv --reuid=postgres --regid=postgres --clear-groups postgres --single postgres
  printf "listen_addresses = '*'\\njit = off\\n" >>"$PGDATA/postgresql.conf"
fi
install -d -o postgres -g postgres /var/run/postgresql
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
`;

const users = {
  passwd: 'root:x:0:0:root:/:/bin/sh\npostgres:x:999:999:postgres:/var/lib/postgresql:/bin/sh\n',
  group: 'root:x:0:\npostgres:x:999:\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

interface Recipe {
  packages: readonly string[];
  /** Paths and contents of files, which can be executed. */
  files: Readonly<Record<string, string>>;
  /** Further folders. */
  folders: readonly string[];
  /** Instructions of a Containerfile. */
  changes: readonly string[];
}

async function build(containers: Containers, folder: string, name: string, recipe: Recipe): Promise<void> {
  const root = join(folder, `${name}-root`);
  const archive = join(folder, `${name}.tar`);
  await run(containers, 'mmdebstrap', [
    '--variant=extract',
    `--include=${recipe.packages.join(',')}`,
    // LLVM, which PostgreSQL uses for just-in-time compilation, is four fifths of all.
    ...[
      '*/libLLVM*',
      '/usr/lib/postgresql/*/lib/bitcode/*',
      '/usr/share/doc/*',
      '/usr/share/man/*',
      '/usr/share/locale/*',
    ].map((path) => `--dpkgopt=path-exclude=${path}`),
    'bookworm',
    root,
  ]);
  for (const path of recipe.folders) await mkdir(join(root, path), { recursive: true });
  for (const [path, content] of Object.entries(recipe.files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), content);
    await chmod(join(root, path), 0o755);
  }
  await run(containers, 'tar', ['--create', `--file=${archive}`, `--directory=${root}`, '--exclude=./dev/*', '.']);
  const changes = recipe.changes.map((change) => `--change=${change}`);
  await run(containers, 'podman', ['import', '--quiet', ...changes, archive, `localhost/debian/${name}:local`]);
}

/** Builds `localhost/debian/postgres:local`, `caddy:local` and `prometheus:local`, because tests reach no registry of images. */
export async function buildDebianImages(containers: Containers, folder: string): Promise<void> {
  const etc = Object.fromEntries(Object.entries(users).map(([name, content]) => [`etc/${name}`, content]));
  await build(containers, folder, 'postgres', {
    packages: ['postgresql-15', 'postgresql-client-15', 'dash', 'coreutils', 'util-linux'],
    files: { ...etc, 'usr/local/bin/docker-entrypoint.sh': postgresEntrypoint },
    folders: ['proc', 'sys', 'dev', 'tmp', 'run', 'var/lib/postgresql'],
    changes: [
      'ENV PATH=/usr/local/bin:/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'ENTRYPOINT ["docker-entrypoint.sh"]',
      'CMD ["postgres"]',
    ],
  });
  await build(containers, folder, 'caddy', {
    packages: ['caddy', 'ca-certificates'],
    files: etc,
    folders: ['proc', 'sys', 'dev', 'tmp', 'run', 'config', 'data'],
    changes: [
      'ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin',
      'ENV XDG_CONFIG_HOME=/config',
      'ENV XDG_DATA_HOME=/data',
      'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]',
    ],
  });
  await build(containers, folder, 'prometheus', {
    packages: ['prometheus', 'ca-certificates'],
    files: etc,
    folders: ['proc', 'sys', 'dev', 'tmp', 'etc/prometheus', 'prometheus'],
    changes: ['ENV PATH=/usr/bin:/bin', 'ENTRYPOINT ["prometheus"]'],
  });
}
