import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { DurationField } from '../../ui/duration-field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import type { ApiKeyRow } from './api-key.ts';

const ApiKeysRotate = graphql(`
  mutation ApiKeysRotate($input: RotateApiKeyInput!) {
    rotateApiKey(input: $input) {
      apiKey
      key {
        id
        name
      }
    }
  }
`);

interface RotateApiKeyProps {
  readonly row: ApiKeyRow;
  readonly onToken: (name: string, token: string) => void;
  readonly onClose: () => void;
}

export function RotateApiKey({ row, onToken, onClose }: RotateApiKeyProps) {
  const [overlapSeconds, setOverlapSeconds] = useState(86_400);
  const rotate = useChange(ApiKeysRotate, {
    onDone: ({ rotateApiKey }) => rotateApiKey && onToken(rotateApiKey.key.name, rotateApiKey.apiKey),
  });
  return (
    <FormDialog
      title={`Replace the token of ${row.name}`}
      action="Replace token"
      busy={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate({ input: { id: row.id, overlapSeconds } })}
      onClose={onClose}
    >
      <p>
        The key gets a new token, which is shown once. Its name, what it may do, and its expiry stay the same.
      </p>
      <DurationField
        label="The old token stays good for"
        hint="At most 7 days, to change it in your programs one after another. With 0, it ends at once: choose this if it has leaked."
        value={overlapSeconds}
        onChange={setOverlapSeconds}
        error={issueFor(rotate.error, 'overlapSeconds')}
      />
      {row.previousValidUntil && <p>A token that an earlier rotation replaced ends at once.</p>}
    </FormDialog>
  );
}
