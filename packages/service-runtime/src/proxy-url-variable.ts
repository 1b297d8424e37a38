import { z } from 'zod';
import { unreadableUrl, urlProblem } from './config-variables.ts';

/** The URL of an HTTP proxy, with or without credentials. */
export function proxyUrlVariable() {
  return z.string().transform((text, context): URL => {
    const url = URL.parse(text);
    const problem = urlProblem(text, ['http', 'https']);
    if (url === null || problem !== null) {
      context.addIssue(problem ?? unreadableUrl);
      return z.NEVER;
    }
    if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
      context.addIssue('must contain a host and a port only, with or without credentials');
      return z.NEVER;
    }
    if (!isDecodable(url.username) || !isDecodable(url.password)) {
      context.addIssue('must have percent-encoded credentials; a % in them is %25');
      return z.NEVER;
    }
    // The name ends at the first colon of what the proxy gets.
    if (decodeURIComponent(url.username).includes(':')) {
      context.addIssue('must have a user name without a colon');
      return z.NEVER;
    }
    return url;
  });
}

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
