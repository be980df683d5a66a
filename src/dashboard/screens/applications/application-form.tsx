import { type ReactNode, useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { present } from '../../api/present.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ButtonRow, FieldPair, FormStack, Problem } from '../../ui/page.tsx';

const ApplicationsCreate = graphql(`
  mutation ApplicationsCreate($input: CreateApplicationInput!) {
    createApplication(input: $input) {
      application {
        id
      }
    }
  }
`);

interface ApplicationFormProps {
  readonly onCreated: (applicationId: string) => void;
  /** Additional buttons. */
  readonly children?: ReactNode;
}

export function ApplicationForm({ onCreated, children }: ApplicationFormProps) {
  const [name, setName] = useState('');
  const [version, setVersion] = useState('1.0.0');
  const create = useChange(ApplicationsCreate, {
    onDone: ({ createApplication }) => onCreated(present(createApplication).application.id),
  });
  const nameIssue = issueFor(create.error, 'name');
  const versionIssue = issueFor(create.error, 'version');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!create.isPending) create.mutate({ input: { name, version } });
      }}
    >
      <FormStack>
        {create.error && nameIssue === null && versionIssue === null && <Problem error={create.error} />}
        <FieldPair>
          <TextField
            label="Name"
            hint="Such as the name of your program."
            required
            maxLength={100}
            value={name}
            onChange={setName}
            error={nameIssue}
          />
          <TextField
            label="Version"
            hint="The one that your program sends. Others get APP_OUTDATED."
            required
            maxLength={64}
            mono
            value={version}
            onChange={setVersion}
            error={versionIssue}
          />
        </FieldPair>
        <ButtonRow>
          <Button look="primary" type="submit" busy={create.isPending}>
            Create application
          </Button>
          {children}
        </ButtonRow>
      </FormStack>
    </form>
  );
}
