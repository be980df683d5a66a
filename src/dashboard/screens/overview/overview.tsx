import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApplications } from '../../shell/session.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { Figures } from './figures.tsx';
import { FirstRun } from './first-run.tsx';
import styles from './overview.module.css';
import { type OverviewSearch, periods } from './search.ts';

export function Overview() {
  const applications = useApplications();
  const { period = 'day', application } = useSearch({ from: '/shell/' });
  const navigate = useNavigate();
  if (applications.length === 0) return <FirstRun />;
  // An application of another account, or one that was deleted.
  const chosen = applications.find(({ id }) => id === application);
  const show = (change: OverviewSearch) =>
    navigate({ to: '/', search: (search) => ({ ...search, ...change }), replace: true });
  const only = applications.length === 1 ? applications[0] : undefined;
  const mintFor = chosen ?? only;
  const subject = chosen?.name ?? only?.name ?? 'All applications';
  const { label } = periods.find(({ value }) => value === period) ?? periods[0];
  return (
    <>
      <PageHeader title="Overview" sub={`${subject}, ${label.toLowerCase()}`}>
        {only === undefined && (
          <select
            aria-label="Application"
            className={styles.select}
            value={chosen?.id ?? ''}
            onChange={(event) => show({ application: event.target.value || undefined })}
          >
            <option value="">All applications</option>
            {applications.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        <select
          aria-label="Period"
          className={styles.select}
          value={period}
          onChange={(event) =>
            show({ period: periods.find(({ value }) => value === event.target.value)?.value })
          }
        >
          {periods.map(({ value, label: name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        {mintFor && (
          <ButtonLink
            to="/applications/$applicationId/mint"
            params={{ applicationId: mintFor.id }}
            look="primary"
          >
            Mint keys
          </ButtonLink>
        )}
      </PageHeader>
      <Figures period={period} application={chosen?.id ?? null} only={only?.id ?? chosen?.id ?? null} />
    </>
  );
}
