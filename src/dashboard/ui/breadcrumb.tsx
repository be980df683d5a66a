import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './breadcrumb.module.css';

interface BreadcrumbProps {
  readonly applicationId: string;
  readonly applicationName: string;
  /** The link to the list that this screen is one of. */
  readonly children: ReactNode;
}

/** Where a screen of the account is: above its header. */
export const Trail = ({ children }: { readonly children: ReactNode }) => (
  <nav className={styles.breadcrumb} aria-label="Breadcrumb">
    {children}
  </nav>
);

/** Where a screen of an application is: above its header. */
export const Breadcrumb = ({ applicationId, applicationName, children }: BreadcrumbProps) => (
  <Trail>
    <Link to="/applications/$applicationId/settings" params={{ applicationId }}>
      {applicationName}
    </Link>
    <span aria-hidden>/</span>
    {children}
  </Trail>
);
