import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormStack, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';

const DeleteApplication = graphql(`
  mutation SettingsDeleteApplication($input: DeleteApplicationInput!) {
    deleteApplication(input: $input) {
      deletedApplicationId
    }
  }
`);

interface DeleteDialogProps {
  readonly application: { readonly id: string; readonly name: string };
  readonly onClose: () => void;
}

/** Asks for the name, because nothing of it comes back. */
export function DeleteDialog({ application: { id, name }, onClose }: DeleteDialogProps) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const remove = useChange(DeleteApplication, {
    onDone: () => {
      tell(`Application “${name}” deleted`);
      void navigate({ to: '/applications', ignoreBlocker: true });
    },
  });
  return (
    <Dialog
      title={`Delete “${name}”?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" type="submit" form="delete-application" busy={remove.isPending}>
            Delete application
          </Button>
        </>
      }
    >
      <form
        id="delete-application"
        onSubmit={(event) => {
          event.preventDefault();
          setIsWrong(typed !== name);
          if (typed === name) remove.mutate({ input: { id } });
        }}
      >
        <FormStack>
          <p>
            Its licenses, devices, users, policies, bans, log and signing key are lost. Every copy of the
            program is refused from then on, and no new application can take its place, because the programs
            have its id and its public key built in. Devices that are offline go on with their leases until
            these end. This cannot be undone.
          </p>
          <TextField
            label={`Type “${name}” to confirm`}
            autoComplete="off"
            value={typed}
            onChange={setTyped}
            error={isWrong && typed !== name ? 'This is not the name of the application.' : null}
          />
          {remove.error && <Problem error={remove.error} />}
        </FormStack>
      </form>
    </Dialog>
  );
}
