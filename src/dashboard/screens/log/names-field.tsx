import { CheckField } from '../../ui/field.tsx';
import { Hidden } from '../../ui/text.tsx';
import styles from './log.module.css';

interface NamesFieldProps {
  readonly legend: string;
  readonly names: readonly { readonly name: string; readonly label: string }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Any of many names. None of them is no filter. */
export const NamesField = ({ legend, names, chosen, onChange }: NamesFieldProps) => (
  <fieldset className={styles.fieldset}>
    <legend>
      <Hidden>{legend}</Hidden>
    </legend>
    <div className={styles.names}>
      {names.map(({ name, label }) => (
        <CheckField
          key={name}
          label={label}
          checked={chosen.includes(name)}
          onChange={(on) => onChange(on ? [...chosen, name] : chosen.filter((other) => other !== name))}
        />
      ))}
    </div>
  </fieldset>
);
