/** Where an app runs. Declared here: the declarations of the platform need those of its dependencies. */
export interface StartOptions {
  /** The URL of a module of the application: `import.meta.url`, or `pathToFileURL(__filename).href`. The nearest `package.json` has its version. */
  app: string;
  /** Defaults to that of the process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether it serves `/health`, `/ready` and `/metrics`, on ADMIN_PORT. Defaults to false. */
  servesAdmin?: boolean | undefined;
}

/** A worker that runs in a program. */
export interface RunningWorker {
  /** Of `/health`, `/ready` and `/metrics`. Empty unless it serves them. */
  adminUrl: string;
  /** Resolves when it has become ready. Never settles if it is stopped before. */
  ready: Promise<void>;
  /** Finishes the work in progress, and leaves no timer and no connection open. Can be called again. */
  stop: () => Promise<void>;
}

/** An interface that runs in a program. */
export interface RunningInterface extends RunningWorker {
  /** Without a path: `http://127.0.0.1:4004`. */
  url: string;
  port: number;
}
