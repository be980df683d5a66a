import { ChoiceField } from '../ui/choice-field.tsx';

/** The API's enum of the same values; generated only where an operation has it. */
type SelfService = 'off' | 'key' | 'account';

interface SelfServiceFieldProps {
  readonly value: SelfService;
  readonly onChange: (value: SelfService) => void;
  readonly error?: string | null;
}

const options = [
  {
    value: 'off',
    label: 'Off',
    hint: 'Only you release devices. A customer with a new computer asks you.',
  },
  {
    value: 'key',
    label: 'By key',
    hint: 'Anyone with the license key can list and release its devices, and move to a new one, in your program. So can a stranger who finds the key: set a cooldown and few moves.',
  },
  {
    value: 'account',
    label: 'By account',
    hint: 'The account of the license can do the same, with its password. A leaked key moves nothing.',
  },
] as const satisfies readonly { value: SelfService; label: string; hint: string }[];

/** Who may move devices, and in plain words what each choice lets a customer do. */
export const SelfServiceField = (props: SelfServiceFieldProps) => (
  <ChoiceField {...props} label="Self-service" options={options} />
);
