/** Copies text. The clipboard's interface exists only in secure contexts; an intranet may use plain HTTP. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied)
    throw new Error('This browser does not let the page copy. Select the text and copy it yourself.');
}
