// Pictures as base64: put under each other and shrunk, and how far two of them are apart.

async function decoded(picture) {
  const image = new Image();
  image.src = `data:;base64,${picture}`;
  await image.decode();
  return image;
}

async function shrunk(pictures, scale = 0.125) {
  const images = await Promise.all(pictures.map(decoded));
  const heights = images.map(({ height }) => Math.round(height * scale));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(Math.max(...images.map(({ width }) => width)) * scale);
  canvas.height = heights.reduce((sum, height) => sum + height, 0);
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  let top = 0;
  images.forEach((image, place) => {
    context.drawImage(image, 0, top, Math.round(image.width * scale), heights[place]);
    top += heights[place];
  });
  return canvas.toDataURL("image/webp", 0.8).split(",")[1];
}

async function pixelsOf(picture) {
  const image = await decoded(picture);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height);
}

// How many rows one has more than the other, and how far their colours are off: on average, and in the worst block.
async function difference(one, other, blockSize = 8) {
  const [first, second] = [await pixelsOf(one), await pixelsOf(other)];
  const [width, height] = [Math.min(first.width, second.width), Math.min(first.height, second.height)];
  const sums = new Map();
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width * 4; x += 1) {
      const off = Math.abs(first.data[y * first.width * 4 + x] - second.data[y * second.width * 4 + x]);
      const block = `${Math.floor(y / blockSize)} ${Math.floor(x / 4 / blockSize)}`;
      const [sum, count] = sums.get(block) ?? [0, 0];
      sums.set(block, [sum + off, count + 1]);
    }
  }
  const means = [...sums.values()].map(([sum, count]) => sum / count);
  const mean = means.reduce((sum, each) => sum + each, 0) / means.length;
  return [Math.abs(first.height - second.height), mean, Math.max(...means)];
}
