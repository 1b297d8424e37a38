import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import picomatch from 'picomatch';
import { foldersAround, packageManagerOf, readJsonObject } from './source/project.ts';
import type { Verdict } from './verdict.ts';

/** How the packages of a repository declare bumps. */
export type Declaring = ReturnType<typeof declaringIn>;

const configFile = '.changeset/config.json';

/** @param folder a folder of the repository */
export function declaringIn(folder: string) {
  const root = foldersAround(resolve(folder)).find((each) => existsSync(join(each, configFile))) ?? null;
  const { run } = packageManagerOf(folder);
  const config = root === null ? {} : readJsonObject(join(root, configFile));
  const isOld = root !== null && changesetsIn(root).isBefore3;
  return {
    usesChangesets: root !== null,
    /** The command that adds a changeset. */
    addCommand: (packageName: string, bump: Verdict, message: string): string =>
      isOld ? `${run} changeset` : `${run} changeset add --${bump} ${packageName} -m "${message}"`,
    /** Why, as a clause, Changesets releases no bump of a package, and what to change. Null if it does. `manifest`: its `package.json`. */
    skipOf(packageName: string, manifest: string) {
      const ignored = Array.isArray(config['ignore']) ? config['ignore'].map(String) : [];
      const isIgnored = ignored.length > 0 && picomatch(ignored)(packageName);
      if (isIgnored)
        return {
          reason: `"ignore" in ${configFile} matches ${packageName}, so its changesets have no effect`,
          remedy: `remove ${packageName} from "ignore" in ${configFile}`,
        };
      const { name, version, private: isPrivate } = readJsonObject(manifest);
      if (name !== packageName) return null;
      if (typeof version !== 'string')
        return {
          reason: `${packageName} has no version, so its changesets have no effect`,
          remedy: `add "version" to ${manifest}`,
        };
      if (isPrivate !== true || versionsPrivatePackages(config['privatePackages'], isOld)) return null;
      return {
        reason: `${packageName} is private, and "privatePackages" in ${configFile} does not include private packages`,
        remedy: `set "privatePackages": { "version": true } in ${configFile}`,
      };
    },
  };
}

/**
 * The Changesets of a repository. `installed`: the `package.json` of the installed command, null if it is not installed. `isBefore3`:
 * version 3 has other defaults, and takes the package and the bump as arguments of `changeset add`.
 */
export function changesetsIn(root: string) {
  const manifest = join(root, 'package.json');
  try {
    const installed = createRequire(resolve(manifest)).resolve('@changesets/cli/package.json');
    return { installed, isBefore3: isBefore3(readJsonObject(installed)['version']) };
  } catch {
    const { dependencies, devDependencies } = readJsonObject(manifest);
    const ranges = [dependencies, devDependencies].map((all) =>
      typeof all === 'object' && all !== null && '@changesets/cli' in all ? all['@changesets/cli'] : null,
    );
    return { installed: null, isBefore3: ranges.some(isBefore3) };
  }
}

function isBefore3(range: unknown): boolean {
  return /^[~^]?[012]\b/.test(String(range));
}

/** Changesets 3 versions private packages only if the setting says so, and Changesets 2 unless it says otherwise. */
function versionsPrivatePackages(setting: unknown, byDefault: boolean): boolean {
  if (typeof setting === 'boolean') return setting;
  if (typeof setting !== 'object' || setting === null || !('version' in setting)) return byDefault;
  return setting.version === true;
}
