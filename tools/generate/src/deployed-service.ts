import { isDefault, type Layout } from '@deedwire/layout';
import { banner, type Generated } from './generated.ts';
import { fileExists, readText } from './workspace-files.ts';

/** The apps that every service has, which run the one that the repository deploys. */
const apps = ['apps/operator-cli', 'apps/webhook-worker'];

/** What the apps of every service import of the deployed one, with this dependency in their `package.json`. */
export function deployedService(layouts: readonly Layout[]): Generated | null {
  const deployed = layouts.find(isDefault);
  if (deployed === undefined) return null;
  const { name }: { name: string } = JSON.parse(readText(`${deployed.root}/package.json`));
  const files = new Map<string, string>();
  for (const app of apps) {
    const source = `${app}/src/generated/service.ts`;
    const [, earlier = name] = (fileExists(source) && /'(\S+)\/service'/.exec(readText(source))) || [];
    files.set(source, `${banner}\nexport * from '${name}/service';\n`);
    files.set(`${app}/package.json`, withDependency(readText(`${app}/package.json`), name, earlier));
  }
  return { files, folders: apps.map((app) => `${app}/src/generated`) };
}

/** @param earlier the dependency in whose place the other one comes */
function withDependency(text: string, name: string, earlier: string): string {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(text);
  const { [earlier]: _, ...others } = manifest.dependencies;
  const sorted = Object.entries({ ...others, [name]: 'workspace:^' }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ ...manifest, dependencies: Object.fromEntries(sorted) }, null, 2)}\n`;
}
