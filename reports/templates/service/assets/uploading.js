// Files are sent in pieces, each from where the last one ended; a piece that is lost is sent again.
// Without this script the form sends them as it is.
{
  const form = document.getElementById("upload");
  const pieceBytes = 8 << 20;
  const longestPause = 30000;

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  const ask = async (method, path, body, headers = {}) => {
    const answer = await fetch(path, {
      method,
      body,
      headers: { "X-CSRF-Token": document.body.dataset.csrf, Accept: "application/json", ...headers },
    });
    const said = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(`${said.error} ${said.hint}`), { status: answer.status });
    return said;
  };

  // What may go well a moment later: no connection, a server that is busy or begins anew, an offset that was wrong.
  const mayPass = (error) => !error.status || [408, 409, 429, 502, 503, 504].includes(error.status);

  const insist = async (act, tell) => {
    for (let wait = 500; ; wait = Math.min(2 * wait, longestPause)) {
      try {
        return await act();
      } catch (error) {
        if (!mayPass(error)) throw error;
        tell(`broken off, tries again: ${error.message}`);
        await pause(wait);
      }
    }
  };

  // The file as the server may know it from a try before: its size, date and first bytes.
  const fingerprint = async (file) => {
    const head = new Uint8Array(await file.slice(0, 65536).arrayBuffer());
    let sum = 0x811c9dc5;
    for (const byte of head) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
    return `page ${file.name} ${file.size} ${file.lastModified} ${sum}`;
  };

  const send = async (file, line) => {
    const bar = line.querySelector("progress");
    const status = line.querySelector("span");
    const tell = (text) => {
      status.textContent = text;
    };
    const said = { name: file.name, size_bytes: file.size, fingerprint: await fingerprint(file) };
    const upload = await insist(() => ask("POST", "/api/uploads", JSON.stringify(said)), tell);
    let offset = upload.offset_bytes;
    while (offset < file.size) {
      await insist(async () => {
        offset = (await ask("GET", `/api/uploads/${upload.id}`)).offset_bytes;
        const piece = file.slice(offset, offset + pieceBytes);
        if (piece.size) offset = (await ask("PATCH", `/api/uploads/${upload.id}`, piece, { "Upload-Offset": offset })).offset_bytes;
      }, tell);
      bar.value = offset / file.size;
      tell(`${Math.floor((100 * offset) / file.size)} %`);
    }
    bar.value = 1;
    tell("arrived");
    return upload.id;
  };

  const line = (file) => {
    const made = document.createElement("li");
    const bar = document.createElement("progress");
    bar.value = 0;
    bar.setAttribute("aria-label", file.name);
    made.append(`${file.name} `, document.createElement("span"), bar);
    return made;
  };

  if (form) {
    const picker = document.getElementById("files");
    const drop = document.getElementById("drop");
    const sending = document.getElementById("sending");
    const complaint = document.getElementById("complaint");
    const button = form.querySelector("button");

    const start = async () => {
      const files = [...picker.files];
      const lines = files.map(line);
      sending.replaceChildren(...lines);
      sending.hidden = false;
      complaint.hidden = true;
      button.disabled = true;
      try {
        const uploads = [];
        for (const [number, file] of files.entries()) uploads.push(await send(file, lines[number]));
        const fields = Object.fromEntries(["title", "project", "labels", "model", "ranks", "world_size"].map((name) => [name, form.elements[name].value]));
        const run = await insist(() => ask("POST", "/api/runs", JSON.stringify({ ...fields, uploads })), () => {});
        location.assign(run.path);
      } catch (error) {
        complaint.textContent = error.message;
        complaint.hidden = false;
        button.disabled = false;
      }
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      start();
    });
    drop.querySelector(".drop-hint").hidden = false;
    for (const name of ["dragenter", "dragover"]) {
      drop.addEventListener(name, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    }
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      picker.files = event.dataTransfer.files;
    });
  }
}
