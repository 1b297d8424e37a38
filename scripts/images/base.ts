import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Build } from './build.ts';
import { run } from './command.ts';
import { copyTree, makeFolder, writeReadable } from './copy-tree.ts';

const release = { codename: 'bookworm', version: '12' };

// libatomic1 is a library that Node 26 needs. The others follow from these two, or are data.
const packages = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1', 'ca-certificates', 'tzdata'];
/** A dependency with a license, but without a file that a process needs. */
const documented = [...packages, 'gcc-12-base'];

/** A package of Debian, as in `/var/lib/dpkg/status`. */
export interface DebianPackage {
  name: string;
  version: string;
  architecture: string;
}

/** Stores what each package says about itself where scanners of images look for it. */
const storeStatus = `mkdir -p "$1/var/lib/dpkg/status.d"
for file in "$1"/var/cache/apt/archives/*.deb; do
  dpkg-deb --field "$file" > "$1/var/lib/dpkg/status.d/$(dpkg-deb --field "$file" Package)"
done`;

const names = documented.map((name) => name.replaceAll('+', String.raw`\+`)).join('|');

const kept = [
  /^lib(?:64)?\//,
  /^usr\/lib\/[^/]+-linux-gnu\/lib(?:atomic|stdc\+\+|gcc_s)\.so/,
  /^usr\/share\/(?:ca-certificates|zoneinfo)\//,
  new RegExp(String.raw`^usr/share/doc/(?:${names})(?:/copyright)?$`),
  new RegExp(String.raw`^var/lib/dpkg/status\.d/(?:${names})$`),
];

/** What Debian creates when a package is configured, which does not happen here: nothing runs in the image. */
const files: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/:/usr/sbin/nologin\ndeedwire:x:10001:10001:deedwire:/app:/usr/sbin/nologin\n',
  'etc/group': 'root:x:0:\ndeedwire:x:10001:\n',
  // Without this file, the C library does not read /etc/hosts if the name server knows that a name does not exist.
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  'etc/os-release': `ID=debian\nVERSION_ID="${release.version}"\nVERSION_CODENAME=${release.codename}\nPRETTY_NAME="Deedwire on Debian ${release.version}"\n`,
};

/** Writes the root folder of the images without Node and the app, and returns the packages of Debian in it. */
export async function makeBase(folder: string, { epoch }: Build): Promise<DebianPackage[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'deedwire-base-'));
  const root = join(temporary.path, 'root');
  // `extract`: without maintainer scripts, and without the packages that every Debian has, such as a shell.
  await run(
    'mmdebstrap',
    ['--variant=extract', `--include=${packages.join(',')}`, `--extract-hook=${storeStatus}`, release.codename, root],
    { SOURCE_DATE_EPOCH: String(epoch) },
  );
  await copyTree(root, folder, {
    keep: (path, isFolder) => isFolder || kept.some((pattern) => pattern.test(path)),
    // The loader of programs is one.
    hasPrograms: true,
  });
  for (const mountPoint of ['app', 'dev', 'etc/ssl/certs', 'proc', 'run', 'sys', 'usr/bin'])
    await makeFolder(join(folder, mountPoint));
  await makeFolder(join(folder, 'tmp'), 0o1777);
  for (const [path, content] of Object.entries(files)) await writeReadable(join(folder, path), content);
  await writeReadable(join(folder, 'etc/ssl/certs/ca-certificates.crt'), await certificatesIn(folder));
  return packagesIn(folder);
}

/** The file for `NODE_EXTRA_CA_CERTS` and `sslrootcert`: each certificate that Debian trusts. */
async function certificatesIn(folder: string): Promise<string> {
  const certificates = join(folder, 'usr/share/ca-certificates/mozilla');
  const certificateFiles = await readdir(certificates);
  const texts = await Promise.all(
    certificateFiles.toSorted().map((name) => readFile(join(certificates, name), 'utf8')),
  );
  return texts.map((text) => `${text.trim()}\n`).join('');
}

async function packagesIn(folder: string): Promise<DebianPackage[]> {
  const statusFolder = join(folder, 'var/lib/dpkg/status.d');
  const statusFiles = await readdir(statusFolder);
  return Promise.all(
    statusFiles.toSorted().map(async (name) => {
      const status = await readFile(join(statusFolder, name), 'utf8');
      const field = (key: string): string => new RegExp(`^${key}: (.*)$`, 'm').exec(status)?.[1] ?? '';
      return { name: basename(name), version: field('Version'), architecture: field('Architecture') };
    }),
  );
}
