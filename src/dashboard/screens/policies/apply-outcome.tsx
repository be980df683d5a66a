import { Link } from '@tanstack/react-router';
import { type FragmentType, readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { csvLine, plainCell } from '../../ui/csv.ts';
import { download, fileName } from '../../ui/download.ts';
import { numberText } from '../../ui/format.ts';
import { Facts } from '../../ui/page.tsx';
import { SimpleTable } from '../../ui/simple-table.tsx';
import { Mono } from '../../ui/text.tsx';

const PolicyApplyOutcome = graphql(`
  fragment PolicyApplyOutcome on ApplyPolicyPayload {
    dryRun
    matched
    changed
    skipped
    skippedByCode {
      code
      count
    }
    sample {
      id
      keyPrefix
      outcome
      code
    }
    results {
      id
      keyPrefix
      outcome
      code
    }
  }
`);

/** Why a license is skipped, in words. */
const reasons: Readonly<Record<string, string>> = {
  UNCHANGED: 'has all values already',
  LICENSE_NOT_FOUND: 'was deleted meanwhile',
  NOT_MATCHED: 'no longer matches',
  VALIDATION_FAILED: 'would get values that are not allowed',
  UNAVAILABLE: 'was not reached; apply again',
  RATE_LIMITED: 'was not reached; apply again in a minute',
  UNAUTHENTICATED: 'was not reached, because your session ended',
};

const reasonText = (code: string): string => reasons[code] ?? code;

interface ApplyOutcomeProps {
  readonly outcome: FragmentType<typeof PolicyApplyOutcome>;
  readonly applicationId: string;
}

/** What a run would change, or has changed. */
export function ApplyOutcome({ outcome: masked, applicationId }: ApplyOutcomeProps) {
  const { dryRun, matched, changed, skipped, skippedByCode, sample, results } = readFragment(
    PolicyApplyOutcome,
    masked,
  );
  const save = () =>
    download(fileName('applied-policy'), [
      csvLine(['id', 'keyPrefix', 'outcome', 'code']),
      ...results.map((result) =>
        csvLine([result.id, plainCell(result.keyPrefix ?? ''), result.outcome, result.code]),
      ),
    ]);
  return (
    <>
      <p role="status">
        {matched === 0
          ? 'No license matches.'
          : dryRun
            ? 'Nothing has been changed yet. This is what a run would do.'
            : 'The run is over. The security log has an entry for each changed license.'}
      </p>
      <Facts
        facts={[
          ['Selected', numberText(matched)],
          [dryRun ? 'Would change' : 'Changed', numberText(changed)],
          [dryRun ? 'Would skip' : 'Skipped', numberText(skipped)],
          ...skippedByCode.map(
            ({ code, count }) => [code, `${numberText(count)} ${reasonText(code)}`] as const,
          ),
        ]}
      />
      {sample.length > 0 && (
        <SimpleTable
          label={dryRun ? 'Sample' : 'First results'}
          rows={sample}
          keyOf={({ id }) => id}
          columns={[
            {
              header: 'License',
              cell: ({ id, keyPrefix }) => (
                <Link
                  to="/applications/$applicationId/licenses/$licenseId"
                  params={{ applicationId, licenseId: id }}
                >
                  <Mono>{keyPrefix ?? id}</Mono>
                </Link>
              ),
            },
            {
              header: dryRun ? 'A run' : 'Result',
              cell: ({ outcome, code }) =>
                outcome === 'changed'
                  ? dryRun
                    ? 'would change it'
                    : 'changed'
                  : `${dryRun ? 'would skip it' : 'skipped'}: ${code ? reasonText(code) : ''}`,
            },
          ]}
        />
      )}
      {matched > sample.length && (
        <div>
          <Button small onClick={save}>
            Save all {numberText(results.length)} results as CSV
          </Button>
        </div>
      )}
    </>
  );
}
