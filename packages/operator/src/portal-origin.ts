import { portalOriginVariable } from '@deedwire/service-runtime';
import { InvalidArgumentError, Option } from 'commander';

/** `--origin <url>`, of the portal. */
export function originOption(): Option {
  return new Option('--origin <url>', 'the origin of the portal; defaults to PORTAL_ORIGIN').argParser(
    (value: string) => {
      const { success, error } = portalOriginVariable().safeParse(value);
      if (!success) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
      return value;
    },
  );
}

/** @throws {Error} if the origin is neither an option nor a setting */
export function chooseOrigin(option: string | undefined, setting: string | undefined): string {
  const origin = option ?? setting;
  if (origin === undefined) throw new Error('Set PORTAL_ORIGIN as for the interface of the account, or pass --origin.');
  return origin;
}
