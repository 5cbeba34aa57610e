//! Memory of a GPU, and pointers to it as a kernel's arguments have them.

use std::fmt;
use std::marker::PhantomData;

use crate::context::Context;
use crate::driver::Address;
use crate::element::{Element, Holds};
use crate::error::Error;
use crate::stream::AsStream;

/// A pointer to memory that a kernel reads and does not write.
pub struct DevicePtr<'a, T> {
    address: Address,
    /// cudarc's record of the use ends where this is dropped.
    #[cfg(feature = "cudarc")]
    _guard: Option<cudarc::driver::SyncOnDrop<'a>>,
    memory: PhantomData<&'a T>,
}

/// A pointer to memory that a kernel writes.
pub struct DevicePtrMut<'a, T> {
    address: Address,
    /// cudarc's record of the use ends where this is dropped.
    #[cfg(feature = "cudarc")]
    _guard: Option<cudarc::driver::SyncOnDrop<'a>>,
    memory: PhantomData<&'a mut T>,
}

macro_rules! pointers {
    ($($name:ident $reference:ty;)*) => { $(
        impl<'a, T> $name<'a, T> {
            /// A pointer to memory that the driver allocated, or to memory of the host that the GPU can reach. A launch
            /// is where the address has to be right.
            #[must_use]
            pub fn from_raw(address: u64) -> Self {
                $name {
                    address,
                    #[cfg(feature = "cudarc")]
                    _guard: None,
                    memory: PhantomData,
                }
            }

            /// A pointer to nothing. Kernels may ask for it.
            #[must_use]
            pub fn null() -> Self {
                Self::from_raw(0)
            }

            /// The `CUdeviceptr`.
            #[must_use]
            pub fn address(&self) -> u64 {
                self.address
            }

            /// A pointer that cudarc's bookkeeping ends with: it records what the stream does until the pointer is
            /// dropped.
            #[cfg(feature = "cudarc")]
            pub(crate) fn guarded(address: u64, guard: cudarc::driver::SyncOnDrop<'a>) -> Self {
                $name { address, _guard: Some(guard), memory: PhantomData }
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.address)
            }
        }

        impl<'a, S: Element + Holds<T>, T> From<$reference> for $name<'a, T> {
            fn from(buffer: $reference) -> Self {
                Self::from_raw(buffer.address)
            }
        }
    )* };
}

pointers! {
    DevicePtr &'a DeviceBuffer<S>;
    DevicePtrMut &'a mut DeviceBuffer<S>;
}

/// Memory of a GPU for elements of a type. It is freed when it is dropped, and the driver then waits for the kernels
/// that use it.
pub struct DeviceBuffer<T> {
    context: Context,
    address: Address,
    length: usize,
    elements: PhantomData<T>,
}

impl<T: Element> DeviceBuffer<T> {
    /// Memory for `length` elements. What it holds is unknown.
    ///
    /// # Errors
    /// What the driver says, or [`Error::TooLarge`].
    pub fn new(context: &Context, length: usize) -> Result<DeviceBuffer<T>, Error> {
        let bytes = length.checked_mul(size_of::<T>()).ok_or(Error::TooLarge { length })?;
        let mut address = 0;
        if bytes > 0 {
            let (driver, _entered) = (context.driver(), context.enter()?);
            // SAFETY: `address` may be written to, and the context is current.
            driver.check(unsafe { (driver.functions.allocate)(&raw mut address, bytes) }, "cuMemAlloc")?;
        }
        Ok(DeviceBuffer { context: context.clone(), address, length, elements: PhantomData })
    }

    /// A copy of these elements.
    ///
    /// # Errors
    /// What the driver says.
    pub fn from_slice(context: &Context, elements: &[T]) -> Result<DeviceBuffer<T>, Error> {
        let mut buffer = DeviceBuffer::new(context, elements.len())?;
        buffer.copy_from(elements)?;
        Ok(buffer)
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A pointer for a kernel that reads the memory.
    #[must_use]
    pub fn ptr<U>(&self) -> DevicePtr<'_, U>
    where
        T: Holds<U>,
    {
        self.into()
    }

    /// A pointer for a kernel that writes the memory.
    #[must_use]
    pub fn ptr_mut<U>(&mut self) -> DevicePtrMut<'_, U>
    where
        T: Holds<U>,
    {
        self.into()
    }

    /// Overwrites all elements, after what was queued on the context's own streams. Waits for the copy.
    ///
    /// # Errors
    /// What the driver says, or [`Error::Length`].
    pub fn copy_from(&mut self, elements: &[T]) -> Result<(), Error> {
        self.has(elements.len())?;
        if elements.is_empty() {
            return Ok(());
        }
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        let (from, bytes) = (elements.as_ptr().cast(), size_of_val(elements));
        // SAFETY: both sides have this many bytes.
        driver.check(unsafe { (driver.functions.copy_in)(self.address, from, bytes) }, "cuMemcpyHtoD")
    }

    /// Copies all elements, after what was queued on the context's own streams. Waits for the copy.
    ///
    /// # Errors
    /// What the driver says, or [`Error::Length`].
    pub fn copy_to(&self, elements: &mut [T]) -> Result<(), Error> {
        self.has(elements.len())?;
        if elements.is_empty() {
            return Ok(());
        }
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        let (to, bytes) = (elements.as_mut_ptr().cast(), size_of_val(elements));
        // SAFETY: both sides have this many bytes, any of which are elements.
        driver.check(unsafe { (driver.functions.copy_out)(to, self.address, bytes) }, "cuMemcpyDtoH")
    }

    /// The elements, as [`copy_to`](DeviceBuffer::copy_to) gets them.
    ///
    /// # Errors
    /// What the driver says.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        // SAFETY: the bits of an element may be any, so also zeros.
        let mut elements = vec![unsafe { std::mem::zeroed() }; self.length];
        self.copy_to(&mut elements)?;
        Ok(elements)
    }

    /// Sets every byte to this one. With 0xff, floats are NaN, and what a kernel forgets to write is seen.
    ///
    /// # Errors
    /// What the driver says.
    pub fn poison(&mut self, byte: u8) -> Result<(), Error> {
        if self.length == 0 {
            return Ok(());
        }
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        // SAFETY: the memory has this many bytes.
        let status = unsafe { (driver.functions.fill)(self.address, byte, self.length * size_of::<T>()) };
        driver.check(status, "cuMemsetD8")
    }

    /// Queues that every byte is set to this one, and does not wait for it.
    ///
    /// # Errors
    /// What the driver says.
    pub fn fill_on(&mut self, stream: &(impl AsStream + ?Sized), byte: u8) -> Result<(), Error> {
        let bytes = self.length * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        // SAFETY: the memory has this many bytes. It is freed behind what the stream does with it.
        let status = unsafe { (driver.functions.fill_on)(self.address, byte, bytes, stream.as_raw_stream()) };
        driver.check(status, "cuMemsetD8Async")
    }

    /// Queues a copy of another buffer's elements, and does not wait for it.
    ///
    /// # Errors
    /// What the driver says, or [`Error::Length`].
    pub fn copy_on(&mut self, stream: &(impl AsStream + ?Sized), from: &DeviceBuffer<T>) -> Result<(), Error> {
        self.has(from.length)?;
        let bytes = self.length * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let (driver, _entered) = (self.context.driver(), self.context.enter()?);
        // SAFETY: both sides have this many bytes. They are freed behind what the stream does with them.
        let status = unsafe { (driver.functions.copy_on)(self.address, from.address, bytes, stream.as_raw_stream()) };
        driver.check(status, "cuMemcpyDtoDAsync")
    }

    fn has(&self, host: usize) -> Result<(), Error> {
        if host == self.length { Ok(()) } else { Err(Error::Length { device: self.length, host }) }
    }
}

impl<T> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.address != 0
            && let Ok(_entered) = self.context.enter()
        {
            // SAFETY: the memory was allocated by `new`. A failure leaves nothing to do.
            unsafe { (self.context.driver().functions.free)(self.address) };
        }
    }
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer({:#x}, {} elements)", self.address, self.length)
    }
}
