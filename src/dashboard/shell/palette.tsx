import { Dialog } from '@base-ui/react/dialog';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { Hidden } from '../ui/text.tsx';
import { matching } from './match.ts';
import styles from './palette.module.css';
import { type PaletteItem, usePaletteItems } from './palette-items.ts';
import { usePaletteSearch } from './palette-search.tsx';

interface PaletteProps {
  readonly applicationId: string | undefined;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** One field to go anywhere and to do anything: a combobox whose list is always open. */
export function Palette({ applicationId, onClose, onHelp }: PaletteProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  // What was chosen moves the focus itself, such as to another screen.
  const hasRun = useRef(false);
  const id = useId();
  const search = usePaletteSearch(applicationId, text);
  const groups = [
    ...usePaletteItems(applicationId, onHelp).map(({ name, items }) => ({
      name,
      items: matching(items, text),
    })),
    ...search.groups,
  ].filter(({ items }) => items.length > 0);
  const items = groups.flatMap((group) => group.items);
  const at = Math.max(
    0,
    items.findIndex((item) => item.id === chosen),
  );
  const active = items[at];
  const run = (item: PaletteItem) => {
    hasRun.current = true;
    onClose();
    item.run();
  };
  const choose = (index: number) => {
    const next = items[(index + items.length) % items.length];
    if (next === undefined) return;
    setChosen(next.id);
    document.getElementById(`${id}-${next.id}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the composition of a word in some languages.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') choose(at + 1);
    else if (event.key === 'ArrowUp') choose(at - 1);
    else if (event.key === 'Enter' && active) run(active);
    else return;
    event.preventDefault();
  };
  const state =
    search.problem ?? (search.isSearching ? 'Searching…' : items.length === 0 ? 'Nothing matches.' : null);
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={styles.popup} initialFocus={field} finalFocus={() => !hasRun.current}>
          <Dialog.Title className={styles.title}>
            <Hidden>Search and go anywhere</Hidden>
          </Dialog.Title>
          <input
            ref={field}
            className={styles.field}
            role="combobox"
            aria-label="Search"
            aria-expanded
            aria-autocomplete="list"
            aria-controls={`${id}-list`}
            aria-activedescendant={active && `${id}-${active.id}`}
            placeholder="A screen, an action, a license or a user"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setChosen(null);
            }}
            onKeyDown={onKeyDown}
          />
          <div id={`${id}-list`} className={styles.list} role="listbox" aria-label="Results">
            {groups.map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of options.
              <div key={group.name} role="group" aria-label={group.name}>
                <div className={styles.group} aria-hidden>
                  {group.name}
                </div>
                {group.items.map((item) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
                  // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field.
                  <div
                    key={item.id}
                    id={`${id}-${item.id}`}
                    role="option"
                    aria-selected={item === active}
                    className={styles.item}
                    onPointerMove={() => setChosen(item.id)}
                    onClick={() => run(item)}
                  >
                    <span className={styles.name}>{item.name}</span>
                    <span className={styles.detail}>{item.detail}</span>
                  </div>
                ))}
              </div>
            ))}
          </div>
          <div className={styles.state} role="status">
            {state}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
