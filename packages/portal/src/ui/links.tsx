import { Link } from '../location.tsx';

/** Links that look like buttons. Those without a target are left out. */
export function Links({ of }: { of: Readonly<Record<string, string | false | null>> }) {
  return Object.entries(of).map(
    ([label, to]) =>
      typeof to === 'string' && (
        <Link key={label} className="button" to={to}>
          {label}
        </Link>
      ),
  );
}
